// Keeps a page up to date: when the proxy tells of a change, the page is asked for
// again and its content put in place of the old. Without scripts nothing is lost
// but that.
'use strict';
(() => {
  const main = () => document.querySelector('main[data-live]');
  if (!main() || !window.EventSource) return;
  const least = 2000; // ms between two loads
  let loading = false, wanted = false, last = 0;

  // What a person has opened or is in the middle of stays as it is.
  const busy = () => {
    const at = document.activeElement, selection = window.getSelection();
    return (at && main().contains(at) && /^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName)) ||
      (selection && !selection.isCollapsed) || document.hidden;
  };
  const opened = (root) => [...root.querySelectorAll('details')].map((d) => d.open);

  async function load() {
    if (loading || busy()) { wanted = true; return; }
    const wait = last + least - Date.now();
    if (wait > 0) { wanted = true; return; }
    loading = true; wanted = false; last = Date.now();
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html' }, credentials: 'same-origin' });
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const next = page.querySelector('main[data-live]');
      if (answer.ok && next && !busy()) {
        const open = opened(main()), scrolled = [...main().querySelectorAll('.scroll')].map((s) => s.scrollLeft);
        main().replaceWith(document.adoptNode(next));
        main().querySelectorAll('details').forEach((d, i) => { if (i in open) d.open = open[i]; });
        main().querySelectorAll('.scroll').forEach((s, i) => { s.scrollLeft = scrolled[i] || 0; });
      }
    } catch { wanted = true; } finally { loading = false; }
  }

  const state = document.querySelector('[data-live-state]');
  const say = (text) => { if (state) { state.hidden = false; state.textContent = text; } };
  const events = new EventSource('/api/events');
  events.addEventListener('open', () => say('live'));
  events.addEventListener('error', () => say('not live'));
  events.addEventListener('change', (e) => {
    if (String(JSON.parse(e.data).version) !== main().dataset.live) load();
  });
  setInterval(() => { if (wanted) load(); }, 1000);
})();
