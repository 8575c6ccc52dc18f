// Starts every widget of a static page: WIDGETS holds the modules by name, each section its traits as JSON.

/** As much of a Jupyter widget model as the widgets use, without a kernel behind it. */
function pageModel(traits) {
  const listeners = new Map();
  return {
    get: (name) => traits[name],
    set(name, value) {
      if (traits[name] === value) return;
      traits[name] = value;
      for (const listener of listeners.get(`change:${name}`) ?? []) listener();
    },
    save_changes() {},
    on(event, listener) {
      listeners.set(event, [...(listeners.get(event) ?? []), listener]);
    },
    off(event, listener) {
      listeners.set(
        event,
        (listeners.get(event) ?? []).filter((known) => known !== listener),
      );
    },
  };
}

for (const section of document.querySelectorAll("section.sl-widget")) {
  const traits = JSON.parse(section.querySelector("script").textContent);
  const el = document.createElement("div");
  section.append(el);
  WIDGETS[section.dataset.widget].render({ model: pageModel(traits), el });
}
