/** Sets the chosen look before the first paint; a script of its own, because the page's other one comes later. */
try {
  const chosen = localStorage.getItem('parley.theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen;
} catch {
  // A browser that keeps nothing: the system's look.
}
