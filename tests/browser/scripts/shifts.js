
window.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries())
    window.shifts.push([entry.value, entry.sources.map(({ node, previousRect, currentRect }) =>
      [node && (node.id || node.className || node.textContent), previousRect.top, currentRect.top])]);
}).observe({ type: "layout-shift", buffered: true });
