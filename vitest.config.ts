import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/seed.ts"],
    globalSetup: ["test/build.ts"],
    maxWorkers: "100%", // vitest leaves one core to itself, which on a machine of two is half of it
    testTimeout: 60_000, // a guard against hanging, not a measure of speed: property tests run on small machines too
  },
});
