/** The conditions of a filter one by one: each may be removed, and one more added. */

import { useState } from 'react'
import type { FormEvent } from 'react'

import { Button } from '../../parts/button.tsx'
import { Input, Select } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import css from './filter-bar.module.css'
import { readWords, writeWords } from './filter-parts.ts'
import type { FilterPart } from './filter-parts.ts'

type Kind = 'name' | 'tag' | 'metadata' | 'slower' | 'faster' | 'tokens' | 'thread' | 'feedback'

const kinds: Readonly<Record<Kind, { readonly words: string; readonly hint: string }>> = {
  name: { words: 'Name is', hint: 'support agent' },
  tag: { words: 'Tag is', hint: 'web' },
  metadata: { words: 'Metadata has', hint: 'customer:c-1' },
  slower: { words: 'Slower than', hint: '2s, 500ms' },
  faster: { words: 'Faster than', hint: '2s, 500ms' },
  tokens: { words: 'More tokens than', hint: '1000' },
  thread: { words: 'Thread is', hint: 'its id' },
  feedback: { words: 'Feedback is', hint: 'user_score<1' },
}

/** The condition that is typed in; undefined if it is none of that kind. */
function partOf(kind: Kind, text: string): FilterPart | undefined {
  const value = text.trim()
  if (value === '') return undefined
  if (kind === 'name' || kind === 'thread') return { kind: 'field', field: kind, value }
  if (kind === 'tag') return { kind: 'tag', value }
  const [part] = readWords(
    { metadata: value, slower: `latency>${value}`, faster: `latency<${value}`,
      tokens: `tokens>${value}`, feedback: `feedback:${value}` }[kind],
  )
  const wanted = kind === 'metadata' || kind === 'feedback' ? kind : 'number'
  return part?.kind === wanted ? part : undefined
}

/** The conditions, and a form for one more. */
export function PartForm({ parts, write, close }: {
  readonly parts: readonly FilterPart[]
  readonly write: (parts: readonly FilterPart[]) => void
  readonly close: () => void
}) {
  const [kind, setKind] = useState<Kind>('name')
  const [value, setValue] = useState('')
  const [isWrong, setWrong] = useState(false)
  const add = (event: FormEvent) => {
    event.preventDefault()
    const part = partOf(kind, value)
    setWrong(part === undefined)
    if (part === undefined) return
    write([...parts, part])
    setValue('')
  }
  return (
    <form className={css['form']} onSubmit={add}>
      <Select aria-label="Condition" value={kind}
        onChange={({ target }) => setKind(target.value as Kind)}
      >
        {Object.entries(kinds).map(([id, { words }]) => <option key={id} value={id}>{words}
        </option>)}
      </Select>
      <Input aria-label="Value" placeholder={kinds[kind].hint} value={value} aria-invalid={isWrong}
        aria-describedby={isWrong ? 'part-wrong' : undefined}
        onChange={({ target }) => setValue(target.value)} />
      <Button type="submit">Add</Button>
      {isWrong && <p id="part-wrong" role="alert">Write it like {kinds[kind].hint}.</p>}
      <ul aria-label="Conditions">
        {parts.map((part, at) => {
          const words = writeWords([part])
          return (
            <li key={at} title={words}>
              <span dir="auto">{words}</span>
              <button type="button" aria-label={`Remove ${words}`}
                onClick={() => write(parts.filter((each) => each !== part))}
              >
                <Icon name="close" size={12} />
              </button>
            </li>
          )
        })}
      </ul>
      <Button kind="quiet" onClick={close}>Close</Button>
    </form>
  )
}
