// Sets the page's language for the browser and screen readers, and stores it for the next visit. Drawers and menus are drawn
// outside the element on which Streamlit sets the colour scheme, so they take it from the document.
export default function ({ data }) {
  const page = document.documentElement
  page.lang = data.language
  const kept = `${data.cookie}=${data.language}`
  if (!document.cookie.split("; ").includes(kept)) {
    document.cookie = `${kept}; path=/; max-age=31536000; samesite=lax${location.protocol === "https:" ? "; secure" : ""}`
  }
  const app = document.querySelector(".stApp")
  const follow = () => { page.style.colorScheme = getComputedStyle(app).colorScheme }
  const watcher = new MutationObserver(follow)
  follow()
  watcher.observe(app, { attributes: true, attributeFilter: ["class", "style"] })
  return () => watcher.disconnect()
}
