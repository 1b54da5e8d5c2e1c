/** The conditions of a filter: chips in groups, and a form for the one that is made or changed. */

import { useState } from 'react'

import { draftOf, emptyDraft } from './condition-draft.ts'
import { ConditionForm } from './condition-form.tsx'
import { GroupChips } from './condition-chips.tsx'
import type { ChipActs } from './condition-chips.tsx'
import css from './condition-menu.module.css'
import { writeExpression } from './expression.ts'
import { addedAt, asGroup, changedAt, expressionAt, groupIn, groupOf } from './expression-edit.ts'
import type { Path, SeenGroup } from './expression-edit.ts'

/** Place that the form is about: a condition that is changed, or a group that gets one more. */
type Editing = { readonly kind: 'change' | 'add'; readonly path: Path }

/** Menu of the conditions. `isOpen` shows the form for a new one as well. */
export function ConditionMenu({ group, write, isOpen, close }: {
  readonly group: SeenGroup
  readonly write: (group: SeenGroup) => void
  readonly isOpen: boolean
  readonly close: () => void
}) {
  const [editing, setEditing] = useState<Editing>()
  // A group without conditions is in no filter: it is kept until it has one.
  const [kept, setKept] = useState<SeenGroup>()
  const text = writeExpression(groupOf(group))
  const tree = kept !== undefined && writeExpression(groupOf(kept)) === text ? kept : group
  const put = (next: SeenGroup) => {
    setKept(next)
    write(next)
  }
  const chosen = editing?.kind === 'change' ? expressionAt(tree, editing.path) : undefined
  const place = editing?.kind === 'change' && chosen === undefined ? undefined : editing
  const acts: ChipActs = {
    open: place?.path,
    edit: (path) =>
      setEditing(place?.kind === 'change' && place.path.join() === path.join()
        ? undefined
        : { kind: 'change', path }),
    remove: (path) => {
      setEditing(undefined)
      put(changedAt(tree, path, undefined))
    },
    join: (path, join) => {
      const inner = path.length === 0 ? tree : asGroup(expressionAt(tree, path))
      const next = { ...inner, join }
      put(path.length === 0 ? next : changedAt(tree, path, groupOf(next)))
    },
    add: (path) => setEditing({ kind: 'add', path }),
    addGroup: (path) => {
      const outer = path.length === 0 ? tree : groupIn(expressionAt(tree, path)!)!
      setKept(
        addedAt(tree, path, { kind: 'group', join: outer.join === 'or' ? 'and' : 'or', of: [] }),
      )
      setEditing({ kind: 'add', path: [...path, outer.of.length] })
    },
  }
  const shown: Editing | undefined = place ?? (isOpen ? { kind: 'add', path: [] } : undefined)
  const end = () => {
    setEditing(undefined)
    close()
  }
  return (
    <div className={css['menu']}>
      {tree.of.length > 0 && <GroupChips group={tree} path={[]} acts={acts} />}
      {shown !== undefined && (
        <ConditionForm key={`${shown.kind} ${shown.path.join()}`} isNew={shown.kind === 'add'}
          start={chosen === undefined ? emptyDraft('name') : draftOf(chosen)} close={end}
          save={(condition) => {
            if (shown.kind === 'add') put(addedAt(tree, shown.path, condition))
            else {
              put(changedAt(tree, shown.path, condition))
              setEditing(undefined)
            }
          }} />
      )}
    </div>
  )
}
