// Follows the link beside it at once, as if the visitor had clicked it.
export default function ({ parentElement }) {
  const follow = () => {
    const link = document.querySelector(".st-key-goal a")
    if (link) link.click()
    else waiting = requestAnimationFrame(follow)
  }
  let waiting = requestAnimationFrame(follow)
  return () => cancelAnimationFrame(waiting)
}
