/** Equal differences of a replay: where they are, in how many runs, and what was asked. */

import { useMemo } from 'react'

import type { ReplayedRun, ReplayProgress } from '../../api/control/replays.ts'
import { ChangedWords } from '../../json/changed-words.tsx'
import { wordParts } from '../../json/word-parts.ts'
import { counted } from '../../parts/amounts.ts'
import { Chip } from '../../parts/chip.tsx'
import css from '../parts/deployments.module.css'
import { callText, placeText, verdictWords } from './replay-words.ts'
import own from './replays.module.css'

/** List of the groups; a press shows only the runs of one, or all again. */
export function DifferenceGroups({ groups, runs, chosen, choose }: {
  readonly groups: ReplayProgress['groups']
  readonly runs: readonly ReplayedRun[]
  readonly chosen: string | undefined
  readonly choose: (group: string | undefined) => void
}) {
  return (
    <section className={css['form']} aria-label="Equal differences">
      <h2>Equal differences</h2>
      <div role="group" aria-label="Groups of runs">
        {groups.map(({ key, verdict, reason, runs: number, ...place }) => (
          <button key={key} type="button" className={own['group']} aria-pressed={chosen === key}
            onClick={() => choose(chosen === key ? undefined : key)}
          >
            <b dir="auto">{reason}</b>
            <span>{counted(number, 'run')}</span>
            <span className={css['meta']} dir="auto">{placeText(place)}</span>
            <Chip tone={verdictWords[verdict].tone}>{verdictWords[verdict].word}</Chip>
            <Calls run={runs.find(({ group }) => group === key)} />
          </button>
        ))}
      </div>
    </section>
  )
}

/** Both calls of one run of a group, as one text. */
function Calls({ run }: { readonly run: ReplayedRun | undefined }) {
  const { asked = null, recorded = null } = run ?? {}
  const parts = useMemo(() => {
    const [before, after] = [recorded, asked].map((call) =>
      call === null ? '' : `${callText(call)} ${call.text}`
    )
    return wordParts(before ?? '', after ?? '')
  }, [asked, recorded])
  if (asked === null) return null
  return (
    <code className="edits" dir="auto">
      <ChangedWords parts={parts} />
    </code>
  )
}
