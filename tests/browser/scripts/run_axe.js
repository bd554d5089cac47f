([options, most, part]) => {
  document.querySelectorAll(`option:not([selected]):nth-child(n + ${most})`).forEach((one) => one.remove());
  const lists = document.querySelectorAll("ul, ol, dl, tbody, .inline-group");
  const further = [...lists].flatMap(({ children }) => [...children].slice(most));
  return axe.run({ include: [part ? document.querySelector(part) : document], exclude: further }, options).then(({ violations }) =>
    violations.map(({ id, help, nodes }) =>
      `${id}: ${help}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join(" | ")}`));
}
