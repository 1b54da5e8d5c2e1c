/** Fields for the keys that the reviewers of a queue score. */

import type { RubricItem } from '../../api/index.ts'
import { Button } from '../parts/button.tsx'
import { Input } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import css from './queues.module.css'

/** The keys of a rubric, which can be changed, added and removed. */
export function RubricFields({ rubric, set }: {
  readonly rubric: readonly RubricItem[]
  readonly set: (rubric: readonly RubricItem[]) => void
}) {
  const change = (at: number, item: Partial<RubricItem>) =>
    set(rubric.map((each, index) => (index === at ? { ...each, ...item } : each)))
  return (
    <fieldset className={css['rubric']}>
      <legend>What is scored</legend>
      {rubric.map((item, at) => (
        <div key={at}>
          <Input aria-label={`Key ${at + 1}`} placeholder="Key" maxLength={180} dir="auto"
            value={item.feedback_key}
            onChange={({ target }) => change(at, { feedback_key: target.value })} />
          <Input aria-label={`Meaning of key ${at + 1}`} placeholder="What it means" dir="auto"
            maxLength={1_000} value={item.description ?? ''}
            onChange={({ target }) => change(at, { description: target.value || null })} />
          <Button kind="quiet" small label={`Remove key ${at + 1}`}
            icon={<Icon name="close" size={14} />}
            onClick={() => set(rubric.filter((_, index) => index !== at))} />
        </div>
      ))}
      <Button small onClick={() => set([...rubric, { feedback_key: '' }])}>Add a key</Button>
    </fieldset>
  )
}
