/** A bar of the verdicts on the runs of a replay. */

import type { ReplayProgress } from '../../api/control/replays.ts'
import { countsText, givenVerdicts, verdictWords } from './replay-words.ts'
import css from './replays.module.css'

/** The bar. Runs that have no verdict yet are its empty end. */
export function VerdictBar({ progress }: { readonly progress: ReplayProgress }) {
  const { verdicts, done, replay: { runs } } = progress
  const words = countsText(verdicts)
  return (
    <span className={css['verdicts']} role="img" aria-label={`Verdicts: ${words}`} title={words}>
      {givenVerdicts(verdicts).map(({ verdict, runs: flexGrow }) => (
        <i key={verdict} style={{ flexGrow, background: verdictWords[verdict].colour }} />
      ))}
      <i style={{ flexGrow: Math.max(0, (runs ?? 0) - done) }} />
    </span>
  )
}
