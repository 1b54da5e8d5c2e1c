/** The graphs that cannot be loaded, each with its sentence and its place in the project. */

import type { GraphFailure } from '../api/client.ts'
import css from './parts/deployments.module.css'

/** The list; nothing if there are none. */
export function GraphFailures({ failures }: { readonly failures: readonly GraphFailure[] }) {
  if (failures.length === 0) return null
  return (
    <ul className={css['failures']} aria-label="Graphs that cannot be loaded">
      {failures.map(({ graph_id: graph, message, at }) => (
        <li key={graph}>
          <b dir="auto">{graph}</b>
          <span dir="auto">{message}</span>
          {at !== null && <code>{at}</code>}
        </li>
      ))}
    </ul>
  )
}
