// Counts the seconds in which the page was not in view since it was opened.
export default function ({ setStateValue }) {
  let since = document.hidden ? performance.now() : undefined
  let seconds = 0
  const seen = () => {
    if (document.hidden) { since = performance.now(); return }
    if (since === undefined) return
    seconds += (performance.now() - since) / 1000
    since = undefined
    setStateValue("seconds", seconds)
  }
  document.addEventListener("visibilitychange", seen)
  return () => document.removeEventListener("visibilitychange", seen)
}
