/** The conditions of a filter as chips, group by group. */

import { Icon } from '../../parts/icon.tsx'
import css from './condition-menu.module.css'
import { conditionWords } from './condition-words.ts'
import { conditionIn, groupIn } from './expression-edit.ts'
import type { Join, Path, SeenCondition, SeenGroup } from './expression-edit.ts'

/** Groups inside each other that the menu makes. */
const levelsMax = 4

const joins: Readonly<Record<Join, string>> = { and: 'All of', or: 'Any of', nand: 'Not all of',
  nor: 'None of' }

/** Acts on the chips of a group, each at its place. */
export interface ChipActs {
  /** The condition or the group that the form is about. */
  readonly open: Path | undefined
  readonly edit: (path: Path) => void
  readonly remove: (path: Path) => void
  readonly join: (path: Path, join: Join) => void
  readonly add: (path: Path) => void
  readonly addGroup: (path: Path) => void
}

/** A group of chips: how they are joined, the chips, and buttons for more. */
export function GroupChips({ group, path, acts }: {
  readonly group: SeenGroup
  readonly path: Path
  readonly acts: ChipActs
}) {
  const isInner = path.length > 0
  const isOpen = acts.open?.join() === path.join() && isInner
  return (
    <div role="group" aria-label={isInner ? 'Group' : 'Conditions'}
      className={`${css['group']} ${isInner ? css['inner'] : ''} ${isOpen ? css['open'] : ''}`}
    >
      {(isInner || group.of.length > 1 || group.join !== 'and') && (
        <select aria-label="How the conditions are joined" className={css['join']}
          value={group.join} onChange={({ target }) =>
          acts.join(path, target.value as Join)}
        >
          {Object.entries(joins).map(([join, words]) => (
            <option key={join} value={join}>{words}</option>
          ))}
        </select>
      )}
      {group.of.map((child, at) => {
        const own = [...path, at]
        const inner = groupIn(child)
        const seen = conditionIn(child)
        if (inner !== undefined) return <GroupChips key={at} group={inner} path={own} acts={acts} />
        return seen && (
          <ConditionChip key={at} seen={seen} isOpen={acts.open?.join() === own.join()} edit={() =>
            acts.edit(own)} remove={() => acts.remove(own)} />
        )
      })}
      <span className={css['more']}>
        <button type="button" onClick={() => acts.add(path)}
          title={isInner ? 'Add a condition to the group' : 'Add a condition'}
          aria-label={isInner ? 'Add a condition to the group' : 'Add a condition'}
        >
          <Icon name="plus" size={12} />
        </button>
        {path.length + 1 < levelsMax && group.of.length > 0 && (
          <button type="button" onClick={() => acts.addGroup(path)}>Group</button>
        )}
        {isInner && (
          <button type="button" aria-label="Remove the group" title="Remove the group"
            onClick={() => acts.remove(path)}
          >
            <Icon name="close" size={12} />
          </button>
        )}
      </span>
    </div>
  )
}

function ConditionChip({ seen: { isNegated, condition }, isOpen, edit, remove }: {
  readonly seen: SeenCondition
  readonly isOpen: boolean
  readonly edit: () => void
  readonly remove: () => void
}) {
  const words = conditionWords(condition)
  return (
    <span
      className={[css['chip'], isOpen && css['open'], condition.kind === 'code' && css['code']]
        .filter(Boolean).join(' ')}
    >
      <button type="button" title={words} aria-expanded={isOpen} onClick={edit}>
        {isNegated && <b>not</b>}
        <span dir="auto">{words}</span>
      </button>
      <button type="button" aria-label={`Remove ${isNegated ? 'not ' : ''}${words}`}
        onClick={remove}
      >
        <Icon name="close" size={12} />
      </button>
    </span>
  )
}
