() => {
  const light = ([red, green, blue]) => [red, green, blue]
    .map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
  const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
  const ground = (element) => {
    const colour = numbers(getComputedStyle(element).backgroundColor);
    return (colour.length < 4 || colour[3] === 1) || !element.parentElement ? colour : ground(element.parentElement);
  };
  const fields = "input:not([type=hidden], [type=checkbox], [type=radio], [type=submit], [type=button], [type=file]), select, textarea";
  return [...document.querySelectorAll(fields)].filter((field) => field.checkVisibility()).flatMap((field) => {
    const edge = light(numbers(getComputedStyle(field).borderTopColor));
    const beside = light(ground(field.parentElement));
    const ratio = (Math.max(edge, beside) + 0.05) / (Math.min(edge, beside) + 0.05);
    return ratio < 3 ? [`${field.outerHTML.slice(0, 80)}: ${ratio.toFixed(2)}`] : [];
  });
}
