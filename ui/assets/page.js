// Sets the page's language for the browser and screen readers, and stores it for the next visit. Drawers and menus are drawn
// outside the element on which Streamlit sets the colour scheme, so they take it from the document. Another report, or the next
// part of a list, begins at its top: Streamlit keeps the place, because for it the page is the same.
export default function ({ data }) {
  const page = document.documentElement
  page.lang = data.language
  const kept = `${data.cookie}=${data.language}`
  if (!document.cookie.split("; ").includes(kept)) {
    document.cookie = `${kept}; path=/; max-age=31536000; samesite=lax${location.protocol === "https:" ? "; secure" : ""}`
  }
  if (page.dataset.place !== undefined && page.dataset.place !== data.place) {
    document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0)
  }
  page.dataset.place = data.place
  const app = document.querySelector(".stApp")
  const follow = () => { page.style.colorScheme = getComputedStyle(app).colorScheme }
  const watcher = new MutationObserver(follow)
  follow()
  watcher.observe(app, { attributes: true, attributeFilter: ["class", "style"] })
  return () => watcher.disconnect()
}
