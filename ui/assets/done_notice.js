// Offers a notice of the browser for when the run is over, and gives it if the page is not in view then. The tab remembers that
// it watched the run, because the page that begins to watch is not the one that shows the report.
const SUPPORTED = "Notification" in window && window.isSecureContext
export default function ({ data, parentElement }) {
  parentElement.replaceChildren()
  if (!SUPPORTED) return
  const watched = `rubrica-watched-${data.run}`
  if (!data.over) {
    sessionStorage.setItem(watched, "1")
    if (Notification.permission === "default") parentElement.append(makeOffer(data))
  } else if (sessionStorage.getItem(watched)) {
    sessionStorage.removeItem(watched)
    if (document.hidden && Notification.permission === "granted") give(data)
  }
  return () => parentElement.replaceChildren()
}
function makeOffer(data) {
  const offer = document.createElement("button")
  offer.className = "r-offer"
  offer.textContent = data.offer
  offer.onclick = async () => {
    const answer = document.createElement("span")
    answer.className = "r-quiet"
    answer.setAttribute("role", "status")
    answer.textContent = (await Notification.requestPermission()) === "granted" ? data.granted : data.denied
    offer.replaceWith(answer)
  }
  return offer
}
function give(data) {
  const notice = new Notification(data.title, { body: data.question, tag: data.run })
  notice.onclick = () => { window.focus(); notice.close() }
}
