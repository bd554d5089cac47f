(wanted) => {
  const here = document.activeElement;
  const isRinged = (element) => {
    const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(element);
    return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 && !/, 0\)$/.test(outlineColor);
  };
  const { left, top, width, height } = here.getBoundingClientRect();
  const shown = document.elementFromPoint(left + Math.min(width / 2, 40), top + height / 2);
  return {
    name: `${here.tagName}.${here.className} ${here.textContent.trim().slice(0, 40)}`,
    isThere: here === wanted,
    isRinged: [here, here.closest("label")].some((element) => element && isRinged(element)),
    isUncovered: here === document.body || Boolean(shown) && (here.contains(shown) || shown.contains(here)),
  };
}
