import js from "@eslint/js";
import globals from "globals";

/* The page concatenates its scripts into one; so does make check, and lints the whole. */
export default [
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2022, sourceType: "script", globals: globals.browser },
    rules: {
      eqeqeq: "error",
      "no-implicit-globals": "off",
      "no-shadow": ["error", { builtinGlobals: false }],
      "no-var": "error",
      "prefer-const": "error",
    },
  },
];
