/** Changes of a version against another one, as rows with a sign, a place, before and after. */

import { useId } from 'react'

import type { Assistant } from '../../api/index.ts'
import { counted } from '../parts/amounts.ts'
import { Select } from '../parts/field.tsx'
import css from './assistants.module.css'
import { changesBetween } from './changes.ts'
import type { Change } from './changes.ts'

const shownMax = 200
const wordsMax = 400

/** The changes; `vs` is the other version, the one before if it is not given. */
export function VersionChanges({ versions, shown, vs, choose }: {
  readonly versions: readonly Assistant[]
  readonly shown: Assistant
  readonly vs: number | undefined
  readonly choose: (vs: number) => void
}) {
  const id = useId()
  const others = versions.filter(({ version }) => version !== shown.version)
  const before = others.find(({ version }) => version === vs) ??
    others.find(({ version }) => version < shown.version) ?? others[0]
  if (before === undefined) {
    return <p className={css['none']}>There is one version. An edit makes the next one.</p>
  }
  const changes = changesBetween(before, shown)
  return (
    <div className={css['compare']}>
      <div className={css['against']}>
        <label htmlFor={id}>What v{shown.version} changed against</label>
        <Select id={id} value={before.version}
          onChange={({ target }) => choose(Number(target.value))}
        >
          {others.map(({ version }) => <option key={version} value={version}>v{version}</option>)}
        </Select>
      </div>
      {changes.length === 0
        ? <p className={css['none']}>Nothing: they are the same.</p>
        : (
          <ul className={css['changes']} aria-label="Changes">
            {changes.slice(0, shownMax).map((change) => (
              <ChangeRow key={change.path.join('\0')} change={change} />
            ))}
          </ul>
        )}
      {changes.length > shownMax && (
        <p className={css['none']}>{counted(changes.length - shownMax, 'more change')}.</p>
      )}
    </div>
  )
}

const signs = { added: '+', removed: '−', changed: '±' } as const

function ChangeRow({ change: { path, kind, before, after } }: { readonly change: Change }) {
  return (
    <li className={css[kind]}>
      <span className={css['sign']} aria-hidden="true">{signs[kind]}</span>
      <span className={css['path']} dir="auto">
        <span className="unseen">{kind}</span> {path.join(' › ')}
      </span>
      <span className={css['values']}>
        {before !== undefined && <del dir="auto">{wordsOf(before)}</del>}
        {after !== undefined && <ins dir="auto">{wordsOf(after)}</ins>}
      </span>
    </li>
  )
}

function wordsOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (text === '') return '""'
  return text.length > wordsMax ? `${text.slice(0, wordsMax)}…` : text
}
