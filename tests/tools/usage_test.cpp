// Wrong command lines of the tool.
#include <cstdlib>

#include "api/small_model.hpp"
#include "run_tool.hpp"
#include "support/environment.hpp"

namespace vellum::test {
namespace {

TEST(Usage, HelpNamesTheCommands) {
  const Finished help = run_tool({"--help"});
  EXPECT_EQ(help.status, 0);
  for (const char* command : {"devices", "inspect", "plan", "pool", "estimate", "run", "tiles", "bench",
                              "profile", "bundle", "tune", "doctor", "quantize"}) {
    EXPECT_NE(help.out.find(command), std::string::npos) << command;
    const Finished of_command = run_tool({command, "--help"});
    EXPECT_EQ(of_command.status, 0) << command;
    for (const char* option : {"--json", "--device", "--precision", "--storage", "--memory", "--cache"})
      EXPECT_NE(of_command.out.find(option), std::string::npos) << command << " " << option;
  }
}

TEST(Usage, DevicesAreListedSavedAndCalibrated) {
  const std::string help = run_tool({"devices", "--help"}).out;
  for (const char* option : {"--save-caps", "--calibrate"})
    EXPECT_NE(help.find(option), std::string::npos) << option;
}

TEST(Usage, TheToolAloneIsWrongUsageWithTheHelp) {
  const Finished alone = run_tool({});
  EXPECT_EQ(alone.status, 2);
  EXPECT_EQ(alone.out, "");
  EXPECT_EQ(alone.err, run_tool({"--help"}).out);
}

// Every command and option is in all three, and each is what its reader takes.
TEST(Usage, TheManualAndCompletionHaveEveryOption) {
  const std::string manual = run_tool({"--manual"}).out, bash = run_tool({"--completion", "bash"}).out,
                    fish = run_tool({"--completion", "fish"}).out;
  for (const char* command : {"devices", "inspect", "run", "doctor"}) {
    EXPECT_NE(manual.find(".SS vellum " + std::string(command)), std::string::npos) << command;
    EXPECT_NE(bash.find(" " + std::string(command)), std::string::npos) << command;
    EXPECT_NE(fish.find(" -a " + std::string(command)), std::string::npos) << command;
  }
  EXPECT_NE(manual.find("\\-\\-memory\\-budget"), std::string::npos);
  EXPECT_NE(bash.find("--memory-budget"), std::string::npos);
  EXPECT_NE(fish.find("-l memory-budget -r"), std::string::npos);
  EXPECT_NE(bash.find("run:--precision) words='fp32 fp16'"), std::string::npos);
  EXPECT_EQ(run_tool({"--completion", "tcsh"}).status, 2);
  const TempFolder folder;
  const std::string script =
      folder
          .write("test.bash",
                 bash +
                     "COMP_WORDS=(vellum run --precision fp) COMP_CWORD=3; _vellum; echo ${COMPREPLY[@]}\n"
                     "COMP_WORDS=(vellum b) COMP_CWORD=1; _vellum; echo ${COMPREPLY[@]}\n")
          .string();
  const Finished completed = run_program("/bin/bash", {script});
  EXPECT_EQ(completed.out, "fp32 fp16\nbench bundle\n") << completed.err;
}

TEST(Usage, HelpFoldsTheCommonOptionsBehindTheCommandsOwn) {
  const std::string help = run_tool({"bench", "--help"}).out, all = run_tool({"bench", "--help-all"}).out;
  EXPECT_LT(help.find("--warm-up"), help.find("--device"));
  for (const char* description : {"number, UUID or part of the name", "milliseconds to search"}) {
    EXPECT_EQ(help.find(description), std::string::npos) << description;
    EXPECT_NE(all.find(description), std::string::npos) << description;
  }
}

TEST(Usage, PackIsStillTheNameOfBundle) {
  const Finished help = run_tool({"pack", "--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("prepacked weights"), std::string::npos);
}

TEST(Usage, WrongCommandLinesGiveStatusTwo) {
  EXPECT_TRUE(fails({"conquer"}, 2, {"conquer"}));
  EXPECT_TRUE(fails({"devices", "--colour"}, 2, {"--colour"}));
  EXPECT_TRUE(fails({"inspect"}, 2, {"MODEL"}));
  EXPECT_TRUE(fails({"inspect", "a.onnx", "b.onnx"}, 2, {"b.onnx"}));
  EXPECT_TRUE(fails({"plan"}, 2, {"MODEL"}));
  EXPECT_TRUE(fails({"plan", "a.onnx", "--records", "b.csv"}, 2, {"--records"}));
  EXPECT_TRUE(fails({"pack", "a.onnx"}, 2, {"--output"}));
  EXPECT_TRUE(fails({"bench", "a.onnx", "--precision", "fp8"}, 2, {"--precision"}));
  EXPECT_TRUE(fails({"bench", "a.onnx", "--runs", "0"}, 2, {"--runs"}));
  EXPECT_TRUE(fails({"run", "a.onnx", "--memory", "infinite"}, 2, {"--memory"}));
  EXPECT_TRUE(fails({"run", "a.onnx", "--memory-budget", "much"}, 2, {"--memory-budget"}));
  EXPECT_TRUE(fails({"tiles", "a.onnx", "-i", "b.png"}, 2, {"--output"}));
  EXPECT_TRUE(fails({"tiles", "a.onnx", "-i", "b.png", "-o", "c.png", "--tile", "0"}, 2, {"--tile"}));
}

TEST(Usage, MessagesNameTheFirstWrongArgumentAndTheNearestRightOne) {
  EXPECT_TRUE(fails({"benhc"}, 2, {"'benhc'", "did you mean 'bench'?"}));
  EXPECT_TRUE(fails({"--frobnicate"}, 2, {"vellum has no option '--frobnicate'"}));
  EXPECT_TRUE(fails({"bench", "--precison", "fp16", "--b"}, 2,
                    {"vellum bench has no option '--precison': did you mean '--precision'?"}));
  EXPECT_TRUE(fails({"bench", "a.onnx", "--zzz", "3", "--yyy"}, 2, {"'--zzz'", "see vellum bench --help"}));
  EXPECT_TRUE(fails({"inspect", "a.onnx", "b.onnx", "c.onnx"}, 2, {"takes no argument 'b.onnx'"}));
}

TEST(Usage, MessagesAboutNumbersAreShort) {
  for (const char* runs : {"0", "-1", "0.0", "many", "1x"}) {
    const Finished finished = run_tool({"bench", "a.onnx", "--runs", runs});
    EXPECT_EQ(finished.status, 2) << runs;
    EXPECT_LT(finished.err.size(), 100u) << finished.err;
    EXPECT_NE(finished.err.find(runs), std::string::npos) << finished.err;
  }
}

// 1 kB is 1000 bytes, 1 KiB 1024.
TEST(Usage, UnitsOfBytesAreThoseOfTheStandard) {
  const TempFolder folder;
  const std::string model = (folder / "model.onnx").string();
  small_model().save(model);
  EXPECT_TRUE(fails({"estimate", model, "--memory-budget", "1KB"}, 1, {"budget of 1000 bytes"}));
  EXPECT_TRUE(fails({"estimate", model, "--memory-budget", "1KiB"}, 1, {"budget of 1024 bytes"}));
}

// For programs that read stdout alone.
TEST(Usage, ErrorsUnderJsonAreADocument) {
  EXPECT_TRUE(fails({"inspect", "missing.onnx", "--json"}, 1, {"missing.onnx"}));
  EXPECT_TRUE(fails({"bench", "--json", "--nothing"}, 2, {"--nothing"}));
  EXPECT_TRUE(fails({"conquer", "--json"}, 2, {"conquer"}));
  const auto error = nlohmann::json::parse(run_tool({"inspect", "missing.onnx", "--json"}).out)["error"];
  EXPECT_EQ(error["code"], "not found");
}

TEST(Usage, TablesSayForWhichDeviceTheyAre) {
  const TempFolder folder;
  const std::string model = (folder / "model.onnx").string();
  small_model().save(model);
  const std::string least = "Android Baseline 2022";
  for (const char* command : {"plan", "estimate"}) {
    const std::string text = run_tool({command, model}).out;
    EXPECT_EQ(text.rfind(least + " (the default", 0), 0u) << text;
    EXPECT_EQ(run_json({command, model})["device"], least);
    EXPECT_EQ(run_tool({command, model, "--caps", "android_baseline_2022"}).out.rfind(least + "\n", 0), 0u);
  }
}

TEST(Usage, FailedWorkGivesStatusOneAndNamesTheFile) {
  const TempFolder folder;
  const std::string garbage = folder.write("garbage.onnx", "this is not a model").string();
  EXPECT_TRUE(fails({"inspect", "missing.onnx"}, 1, {"missing.onnx"}));
  EXPECT_TRUE(fails({"inspect", garbage}, 1, {"garbage.onnx"}));
  EXPECT_TRUE(fails({"plan", garbage}, 1, {"garbage.onnx"}));
  EXPECT_TRUE(fails({"plan", "--records", "missing.csv"}, 1, {"missing.csv"}));
  EXPECT_TRUE(fails({"plan", "--records", garbage}, 1, {"garbage.onnx"}));
  EXPECT_TRUE(fails({"inspect", "missing.onnx", "--json"}, 1, {"missing.onnx"}));
}

// The loader's list of drivers names a file that is not there.
TEST(Usage, DevicesWithoutAnyDriverAreAnEmptyListAndAHint) {
  if (under_wine()) GTEST_SKIP() << "the loader is the host's, with the host's environment";
  const EnvironmentVariable newer("VK_DRIVER_FILES", "/there/is/no/driver.json");
  const EnvironmentVariable older("VK_ICD_FILENAMES", "/there/is/no/driver.json");
  const nlohmann::json list = run_json({"devices"});
  const Finished table = run_tool({"devices"});
  const Finished opened = run_tool({"devices", "--device", "0"});
  EXPECT_TRUE(list.at("devices").empty());
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_NE(table.out.find("mesa-vulkan-drivers"), std::string::npos) << table.out;
  EXPECT_EQ(opened.status, 1);
  EXPECT_NE(opened.err.find("mesa-vulkan-drivers"), std::string::npos) << opened.err;
}

}  // namespace
}  // namespace vellum::test
