(ownWords) => {
  const told = [];
  const spoken = document.documentElement.lang;
  const isOurs = (element) => !element.closest(ownWords) && (element.closest("[lang]") || document.documentElement).lang === spoken;
  const hear = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      if (node.nodeType === Node.TEXT_NODE) {
        if (!node.parentElement || isOurs(node.parentElement)) told.push(node.textContent);
      } else {
        if (node.localName === "template") hear(node.content);
        if (isOurs(node)) ["aria-label", "title", "alt"].forEach((name) => told.push(node.getAttribute(name) || ""));
      }
    }
  };
  hear(document.body);
  return told.map((words) => words.trim()).filter(Boolean);
}
