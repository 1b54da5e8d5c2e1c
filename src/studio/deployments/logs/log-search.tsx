/** Search for a text in lines, and the time that they are of. */

import { logSpans } from '../../addresses/deployments.ts'
import type { DeploymentSearch } from '../../addresses/deployments.ts'
import { Input, Select } from '../../parts/field.tsx'
import { localText, ownZone } from '../../parts/times/moment.ts'
import { SearchBox } from '../../rows/search-box.tsx'
import css from './logs.module.css'

const spanWords = { '15m': 'Last 15 minutes', '1h': 'Last hour', '24h': 'Last 24 hours',
  range: 'From … to …' } as const

/** The box, and the choice of a time. */
export function LogSearch({ search: { q = '', span, from, to }, change }: {
  readonly search: DeploymentSearch
  readonly change: (part: Partial<DeploymentSearch>) => void
}) {
  return (
    <>
      <SearchBox label="Search lines" hint="Search lines …" value={q}
        change={(text) => change({ q: text || undefined })} />
      <Select aria-label="Time" value={span ?? ''}
        onChange={({ target }) => change({ span: logSpans.find((each) => each === target.value) })}
      >
        <option value="">Any time</option>
        {logSpans.map((each) => <option key={each} value={each}>{spanWords[each]}</option>)}
      </Select>
      {span === 'range' && (
        <>
          <TimeInput words="From" value={from} change={(time) => change({ from: time })} />
          <TimeInput words="To" value={to} change={(time) => change({ to: time })} />
        </>
      )}
    </>
  )
}

function TimeInput({ words, value, change }: {
  readonly words: string
  readonly value: string | undefined
  readonly change: (time: string | undefined) => void
}) {
  const label = `${words} (${ownZone()})`
  return (
    <label className={css['when']} title={label}>
      <span>{words}</span>
      <Input type="datetime-local" aria-label={label}
        defaultValue={value === undefined ? '' : localText(Date.parse(value))}
        onChange={({ target }) => {
          const ms = Date.parse(target.value)
          change(Number.isNaN(ms) ? undefined : new Date(ms).toISOString())
        }} />
    </label>
  )
}
