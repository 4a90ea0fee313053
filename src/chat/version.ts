/** Of this package; package.json says the same, and a test says so: a web page has no files to read it from. */
export const VERSION = "0.1.0";
