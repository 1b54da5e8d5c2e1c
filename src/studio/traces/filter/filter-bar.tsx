/** The filter of traces: a box of words or of the language of the API, and its usual conditions. */

import { useState } from 'react'

import { Button } from '../../parts/button.tsx'
import { Select } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { StatusGlyph } from '../../parts/status.tsx'
import type { Status } from '../../parts/status.tsx'
import { traceTimes } from '../../addresses/traces.ts'
import type { ProjectSearch } from '../../addresses/traces.ts'
import css from './filter-bar.module.css'
import { isLanguage, readLanguage, writeLanguage } from './filter-language.ts'
import { readWords, writeWords } from './filter-parts.ts'
import type { FilterPart } from './filter-parts.ts'
import { PartForm } from './part-form.tsx'
import { FilterBox } from '../../rows/filter-box.tsx'

const states: readonly { readonly value: string; readonly words: string;
  readonly status: Status }[] = [
    { value: 'error', words: 'Failed', status: 'failed' },
    { value: 'success', words: 'Done', status: 'done' },
    { value: 'pending', words: 'Running', status: 'running' },
  ]
const timeWords: Readonly<Record<typeof traceTimes[number], string>> = { '1h': 'Last hour',
  '24h': 'Last day', '7d': 'Last week', '30d': 'Last 30 days' }

/** Parameters of the address that the bar reads, and the callback that changes them. */
interface FilterBarProps {
  readonly search: ProjectSearch
  readonly set: (change: Partial<ProjectSearch>) => void
}

/** Bar with the conditions of a filter, and a form for another one. */
export function FilterBar({ search, set }: FilterBarProps) {
  const { q = '', filter, time } = search
  const [isAdding, setAdding] = useState(false)
  const parts = filter === undefined ? readWords(q) : readLanguage(filter)
  const write = (next: readonly FilterPart[]) =>
    set(filter === undefined
      ? { q: writeWords(next) || undefined }
      : { filter: writeLanguage(next) })
  const type = (text: string) =>
    set(isLanguage(text)
      ? { q: undefined, filter: text }
      : { q: text || undefined, filter: undefined })
  return (
    <>
      <div className={css['bar']}>
        <FilterBox label="Filter traces" value={filter ?? q} change={type}
          placeholder='weather status:error latency>2s tag:web, or eq(name, "x")' />
        <StateButtons parts={parts} write={write} />
        <Select aria-label="When they began" className={css['time']} value={time ?? ''}
          onChange={({ target }) => set({ time: traceTimes.find((each) => each === target.value) })}
        >
          <option value="">Any time</option>
          {traceTimes.map((each) => <option key={each} value={each}>{timeWords[each]}</option>)}
        </Select>
        <Button kind="quiet" icon={<Icon name="filter" size={14} />} aria-expanded={isAdding}
          disabled={parts === undefined} onClick={() => setAdding(!isAdding)}
        >
          Conditions
        </Button>
        <LanguageButton search={search} parts={parts} set={set} />
      </div>
      {isAdding && parts !== undefined && (
        <PartForm parts={parts} write={write} close={() => setAdding(false)} />
      )}
    </>
  )
}

function StateButtons({ parts, write }: {
  readonly parts: readonly FilterPart[] | undefined
  readonly write: (parts: readonly FilterPart[]) => void
}) {
  const isState = (part: FilterPart) => part.kind === 'field' && part.field === 'status'
  const chosen = parts?.find(isState)
  return (
    <div role="group" aria-label="Status" className={css['states']}>
      {states.map(({ value, words, status }) => {
        const isOn = chosen?.kind === 'field' && chosen.value === value
        return (
          <button key={value} type="button" aria-pressed={isOn} disabled={parts === undefined}
            title={parts === undefined ? 'Words cannot say the filter in the box.' : undefined}
            onClick={() => {
              const others = parts?.filter((part) => !isState(part)) ?? []
              write(isOn ? others : [...others, { kind: 'field', field: 'status', value }])
            }}
          >
            <StatusGlyph status={status} size={12} />
            {words}
          </button>
        )
      })}
    </div>
  )
}

/** Shows the same filter in the other form. */
function LanguageButton({ search: { q, filter }, parts, set }: FilterBarProps & {
  readonly parts: readonly FilterPart[] | undefined
}) {
  if (filter === undefined && q === undefined) return null
  return filter === undefined
    ? (
      <Button kind="quiet" title="The same filter in the language of the API"
        onClick={() => set({ q: undefined, filter: writeLanguage(parts ?? []) })}
      >
        As code
      </Button>
    )
    : (
      <Button kind="quiet" disabled={parts === undefined}
        title={parts === undefined ? 'Words cannot say this filter.' : 'The same filter in words'}
        onClick={() => set({ q: writeWords(parts ?? []) || undefined, filter: undefined })}
      >
        As words
      </Button>
    )
}
