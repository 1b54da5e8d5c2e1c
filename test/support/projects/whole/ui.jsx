/** The component `card` of the bakery. */

import './ui.css'

function Card({ city }) {
  return <b className="bakery-card">Orders for {city}</b>
}

export default { card: Card }
