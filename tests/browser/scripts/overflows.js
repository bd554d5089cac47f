() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const cut = [...document.body.querySelectorAll("*")].filter((element) => {
    const { overflowX, overflowY, webkitLineClamp } = getComputedStyle(element);
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = element;
    if (webkitLineClamp !== "none") return false; // an offered title ends in dots, and is whole once it is chosen
    return /hidden|clip/.test(overflowX + overflowY) && element.checkVisibility() && element.textContent.trim()
      && !element.closest(".unseen, .visually-hidden, svg") && (scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1);
  });
  return cut.map(({ outerHTML }) => `cut: ${outerHTML.slice(0, 120)}`)
    .concat(scrollWidth > clientWidth ? [`wider: ${scrollWidth}`] : []);
}
