/** Turns a rule on or off. */

import { useMutation, useQueryClient } from '@tanstack/react-query'

import type { Rule } from '../../api/index.ts'
import { changeRule } from './rule-calls.ts'
import { Button } from '../parts/button.tsx'
import { messageOf } from '../parts/error-message.ts'

/** A button; the server's sentence stands in its place if that fails. */
export function RuleSwitch({ rule: { id, is_enabled: isOn, display_name: name }, isReader }: {
  readonly rule: Pick<Rule, 'id' | 'is_enabled' | 'display_name'>
  readonly isReader: boolean
}) {
  const cache = useQueryClient()
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => changeRule(id, { is_enabled: !isOn }),
    onSettled: () => cache.invalidateQueries({ queryKey: ['rules'] }),
  })
  const title = isReader
    ? 'Your key may only read.'
    : error === null
    ? undefined
    : messageOf(error)
  return (
    <Button kind="quiet" small disabled={isReader || isPending} title={title}
      onClick={() => mutate()}
    >
      {isPending ? 'Wait …' : isOn ? 'Turn off' : 'Turn on'}
      <span className="unseen">{name}</span>
    </Button>
  )
}
