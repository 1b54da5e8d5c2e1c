// Sets the chosen colours before the first paint. The choice is made in shell/theme.ts.
try {
  const chosen = localStorage.getItem('studio.theme')
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
} catch {
  // Without storage the colours are those of the system.
}
