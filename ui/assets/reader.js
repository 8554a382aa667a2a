// Shows cards at citations and claims, and reports clicks on them. Everything shown is set as text, never as markup.
const DELAY = 140
export default function ({ data, setTriggerValue, parentElement }) {
  const card = document.createElement("div")
  card.className = "r-card"
  card.setAttribute("role", "tooltip")
  card.id = "r-card"
  card.popover = "manual"
  parentElement.appendChild(card)
  let timer, anchor

  const add = (kind, content) => {
    if (!content) return
    const element = document.createElement(kind === "quote" ? "blockquote" : "div")
    element.className = kind
    element.textContent = content
    card.appendChild(element)
  }
  const fill = (target) => {
    card.replaceChildren()
    const citation = target.dataset.cite && data.citations[target.dataset.cite]
    const claim = target.dataset.claim && data.claims[target.dataset.claim]
    if (citation) {
      add("quote", citation.quote)
      add("title", citation.title)
      add("where", citation.where)
      add("hint", data.hint)
    } else if (claim) {
      add("title", claim.kind)
      add("where", claim.why)
    }
    return Boolean(citation || claim)
  }
  const place = (target) => {
    const box = target.getClientRects()[0] ?? target.getBoundingClientRect()
    const gap = 6
    const left = Math.max(gap, Math.min(box.left, innerWidth - card.offsetWidth - gap))
    const below = box.bottom + gap
    const top = below + card.offsetHeight < innerHeight ? below : Math.max(gap, box.top - gap - card.offsetHeight)
    card.style.left = `${left}px`
    card.style.top = `${top}px`
  }
  const hide = () => {
    clearTimeout(timer)
    anchor?.removeAttribute("aria-describedby")
    anchor = undefined
    if (card.matches(":popover-open")) card.hidePopover()
  }
  const show = (target) => {
    if (!fill(target)) return
    anchor = target
    target.setAttribute("aria-describedby", card.id)
    card.showPopover()
    place(target)
  }
  const found = (event) => event.target.closest?.("[data-cite], [data-claim]")
  const over = (event) => {
    const target = found(event)
    if (!target) {
      if (!card.contains(event.target)) { clearTimeout(timer); timer = setTimeout(hide, DELAY) }
      return
    }
    clearTimeout(timer)
    if (target !== anchor) timer = setTimeout(() => { hide(); show(target) }, event.type === "focusin" ? 0 : DELAY)
  }
  const click = (event) => {
    const target = event.target.closest?.("[data-cite], [data-section]")
    if (!target) return
    hide()
    if (target.dataset.cite) setTriggerValue("cite", target.dataset.cite)
    else setTriggerValue("section", target.dataset.section)
  }
  const key = (event) => { if (event.key === "Escape") hide() }
  const pointer = (event) => { if (event.pointerType === "mouse") over(event) }
  const left = [["pointerover", pointer], ["focusin", over], ["click", click], ["keydown", key]]
  left.forEach(([name, listener]) => document.addEventListener(name, listener))
  document.addEventListener("scroll", hide, true)
  return () => {
    left.forEach(([name, listener]) => document.removeEventListener(name, listener))
    document.removeEventListener("scroll", hide, true)
    card.remove()
  }
}
