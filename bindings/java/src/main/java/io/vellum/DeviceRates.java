package io.vellum;

import org.jetbrains.annotations.NotNull;

/** The most that a device does, and what a dispatch costs it besides; 0 where it is not known. A plain value. */
public final class DeviceRates {
  // Set by native code.
  private double gigamacsPerSecond;
  private double gigabytesPerSecond;
  private int units;
  private int lanes;
  private double latencyNs;
  private double launchUs;
  private double barrierUs;

  DeviceRates() {}

  /** Makes rates that were measured or published elsewhere. Each may be 0. */
  public static @NotNull DeviceRates of(double gigamacsPerSecond, double gigabytesPerSecond, int units, int lanes,
      double latencyNs, double launchUs, double barrierUs) {
    DeviceRates rates = new DeviceRates();
    rates.gigamacsPerSecond = gigamacsPerSecond;
    rates.gigabytesPerSecond = gigabytesPerSecond;
    rates.units = Check.notNegative(units, "units");
    rates.lanes = Check.notNegative(lanes, "lanes");
    rates.latencyNs = latencyNs;
    rates.launchUs = launchUs;
    rates.barrierUs = barrierUs;
    return rates;
  }

  /** Multiply-accumulates in fp32. */
  public double gigamacsPerSecond() {
    return gigamacsPerSecond;
  }

  /** Of device memory. */
  public double gigabytesPerSecond() {
    return gigabytesPerSecond;
  }

  /** Each issues the instructions of one subgroup or more at a time. */
  public int units() {
    return units;
  }

  /** Invocations that compute at the same time, in all units together. */
  public int lanes() {
    return lanes;
  }

  /** Of a load that misses the first cache. */
  public double latencyNs() {
    return latencyNs;
  }

  /** To start a dispatch. */
  public double launchUs() {
    return launchUs;
  }

  /** To drain the device before a dispatch, and to make its results visible. */
  public double barrierUs() {
    return barrierUs;
  }
}
