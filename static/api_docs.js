// Swagger UI is dark where this class stands; it goes by what the reader's device asks for.
(function () {
  "use strict";

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const dress = () => document.documentElement.classList.toggle("dark-mode", dark.matches);

  dress();
  dark.addEventListener("change", dress);
})();
