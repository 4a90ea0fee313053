import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/seed.ts"],
    globalSetup: ["test/build.ts"],
    maxWorkers: "100%", // by default vitest leaves one core idle, which is half of a machine with two
    testTimeout: 60_000, // only a guard against hanging: property tests also run on small machines
  },
});
