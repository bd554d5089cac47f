() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const place = walker.currentNode.parentElement;
    if (!/[\u0590-\u08ff]/.test(walker.currentNode.data) || place.closest("script, style, template, option, svg")) continue;
    if (place.closest("[dir=auto], bdi, textarea[readonly][dir=ltr]") || getComputedStyle(place).unicodeBidi === "plaintext") continue;
    found.push(place.outerHTML.slice(0, 160));
  }
  document.querySelectorAll("input:is([type=text], [type=search], :not([type])), textarea:not([readonly][dir=ltr])").forEach((box) => {
    if (/[\u0590-\u08ff]/.test(box.value) && box.dir !== "auto" && getComputedStyle(box).unicodeBidi !== "plaintext")
      found.push(box.outerHTML.slice(0, 160));
  });
  return found;
}
