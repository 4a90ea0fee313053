/** This package's version. A web page cannot read it from package.json; a test keeps the two equal. */
export const VERSION = "0.1.0";
