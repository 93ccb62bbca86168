/**
 * Vellum on Android: models in assets, bitmaps, hardware buffers and camera images as frames, and surfaces to draw on. From API
 * 26 on.
 *
 * <p>The runtime has one copy of its own for each input, from the caller's memory to where the device reads. Where one of these
 * classes makes another copy, or none, its documentation says so.
 */
package io.vellum.android;
