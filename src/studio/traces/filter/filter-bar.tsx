/** The filter of traces: a box of words or of the language of the API, and a menu of conditions. */

import { useMemo, useState } from 'react'

import { Button } from '../../parts/button.tsx'
import { Select } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { StatusGlyph } from '../../parts/status.tsx'
import type { Status } from '../../parts/status.tsx'
import { traceTimes } from '../../addresses/traces.ts'
import type { ProjectSearch } from '../../addresses/traces.ts'
import { ConditionMenu } from './condition-menu.tsx'
import { readExpression, writeExpression } from './expression.ts'
import type { Expression } from './expression.ts'
import { asGroup, groupOf, statusIn, withStatus } from './expression-edit.ts'
import type { SeenGroup } from './expression-edit.ts'
import css from './filter-bar.module.css'
import { isLanguage, readLanguage, writeLanguage } from './filter-language.ts'
import { readWords, writeWords } from './filter-parts.ts'
import type { FilterPart } from './filter-parts.ts'
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

/** Bar with the box, the usual conditions, and the menu of all conditions. */
export function FilterBar({ search, set }: FilterBarProps) {
  const { q = '', filter, time } = search
  const [isAdding, setAdding] = useState(false)
  const parts = filter === undefined ? readWords(q) : readLanguage(filter)
  const text = filter ?? writeLanguage(parts ?? [])
  const read = useMemo(() => text === undefined ? { value: undefined } : readExpression(text), [
    text,
  ])
  const group = 'error' in read ? undefined : asGroup(read.value)
  const write = (next: SeenGroup) => {
    const written = writeExpression(groupOf(next))
    const words = written === undefined ? [] : readLanguage(written)
    set(filter === undefined && words !== undefined
      ? { q: writeWords(words) || undefined }
      : { q: undefined, filter: written })
  }
  const type = (typed: string) =>
    set(isLanguage(typed)
      ? { q: undefined, filter: typed }
      : { q: typed || undefined, filter: undefined })
  return (
    <>
      <div className={css['bar']}>
        <FilterBox label="Filter traces" value={filter ?? q} change={type}
          isInvalid={group === undefined}
          placeholder='weather status:error latency>2s tag:web, or eq(name, "x")' />
        <StateButtons group={group} write={write} />
        <Select aria-label="Started" className={css['time']} value={time ?? ''}
          onChange={({ target }) => set({ time: traceTimes.find((each) => each === target.value) })}
        >
          <option value="">Any time</option>
          {traceTimes.map((each) => <option key={each} value={each}>{timeWords[each]}</option>)}
        </Select>
        <Button kind="quiet" icon={<Icon name="filter" size={14} />} aria-expanded={isAdding}
          disabled={group === undefined} onClick={() => setAdding(!isAdding)}
        >
          Conditions
        </Button>
        <LanguageButton search={search} parts={parts} set={set} />
      </div>
      {group !== undefined && (isAdding || group.of.some((each) => !isInBar(each))) && (
        <ConditionMenu group={group} write={write} isOpen={isAdding} close={() =>
          setAdding(false)} />
      )}
    </>
  )
}

/** True for a condition that the bar shows already: words in its box, and a status. */
const isInBar = (each: Expression) =>
  each.kind === 'search' && each.place === undefined ||
  each.kind === 'field' && each.field === 'status'

function StateButtons({ group, write }: {
  readonly group: SeenGroup | undefined
  readonly write: (group: SeenGroup) => void
}) {
  const chosen = group && statusIn(group)
  return (
    <div role="group" aria-label="Status" className={css['states']}>
      {states.map(({ value, words, status }) => {
        const isOn = chosen === value
        return (
          <button key={value} type="button" aria-pressed={isOn} disabled={group === undefined}
            title={group === undefined ? 'The filter in the box cannot be read.' : undefined}
            onClick={() => write(withStatus(group!, isOn ? undefined : value))}
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
