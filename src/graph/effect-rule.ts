/** The rules by which effects of a project happen once. */

import { z } from 'zod'

import { calledForm, coversPattern, isCallPattern } from './call-pattern.ts'
import { shapeError } from './shape-error.ts'

/**
 * keep  the result is kept for a task that runs again; done anew where it is not known
 * key   never done under two keys: the receiver drops the repetition
 * ask   never done twice without a decision of a person
 */
export type EffectStrength = 'keep' | 'key' | 'ask'

/** A rule. All its members are plain data. */
export interface EffectRule {
  /** Name that the project's code gives, or the pattern of calls. */
  readonly name: string
  /** True if it is a pattern of HTTP calls. */
  readonly isCall: boolean
  readonly strength: EffectStrength
  /** Hours for which the receiver knows a key. After that it is asked, as for `ask`. */
  readonly keyHours: number
  /** True if a kept result counts even after the node that got it threw. */
  readonly keptOnError: boolean
}

/** Rules that a project may have. */
const rulesMax = 100

const form = 'must be {"name": "charge", "once": "key"} or ' +
  '{"match": "POST https://api.example.org/**", "keep": "answer"}'

const ruleShape = z.strictObject({
  name: z.string(form).regex(/^[\p{L}\p{N}][\p{L}\p{N} ._:/-]{0,127}$/u,
    'is no name of an effect: use 1 to 128 letters, digits, spaces and . _ : / -').optional(),
  match: z.string(form).refine(isCallPattern,
    'must be a method, or *, and a URL of one host, like "POST https://api.example.org/v1/**"')
    .optional(),
  keep: z.literal('answer', 'must be "answer"').optional(),
  once: z.enum(['key', 'ask'], 'must be "key" or "ask"').optional(),
  key_hours: z.number('must be a number of hours').positive('must be above 0').max(8_760,
    'may be a year at most').optional(),
  on_error: z.literal('keep', 'must be "keep"').optional(),
}, { error: shapeError(form) })
  .refine(({ name, match }) => (name === undefined) !== (match === undefined),
    'needs either "name" or "match"')
  .refine(({ keep, once }) => (keep === undefined) !== (once === undefined),
    'needs either "keep" or "once"')
  .refine(({ once, key_hours: hours }) => hours === undefined || once === 'key',
    '"key_hours" belongs to "once": "key"')
  .refine(({ keep, on_error: onError }) => onError === undefined || keep !== undefined,
    '"on_error" belongs to "keep": "answer"')

/** `heddle.effects` of a langgraph.json. */
export const effectsShape = z.array(ruleShape, 'must be a list of rules')
  .max(rulesMax, `may have ${rulesMax} rules`)
  .refine((rules) => new Set(rules.map(({ name, match }) => name ?? match)).size === rules.length,
    'names an effect twice')
  .superRefine((rules, { addIssue }) => {
    for (const [at, { match }] of rules.entries()) {
      const message = match !== undefined && isCallPattern(match)
        ? faultOf(match, rules.slice(0, at))
        : undefined
      if (message !== undefined) addIssue({ code: 'custom', path: [at, 'match'], message })
    }
  })

/** Why a pattern matches no call. The first rule that matches counts. */
function faultOf(match: string, before: readonly { readonly match?: string | undefined }[]):
  | string
  | undefined {
  const called = calledForm(match)
  if (called !== match) return `matches no call: write it as "${called}"`
  const covering = before.find((rule) =>
    rule.match !== undefined && rule.match !== match && coversPattern(rule.match, match)
  )
  return covering &&
    `matches no call, because "${covering.match}" before it matches all of its calls`
}

const keyHoursByDefault = 24

/** The rules as the worker has them. */
export function effectRulesOf(effects: z.infer<typeof effectsShape> = []): EffectRule[] {
  return effects.map((
    { name, match, once, key_hours: keyHours = keyHoursByDefault, on_error: onError },
  ) => ({
    name: name ?? match ?? '',
    isCall: match !== undefined,
    strength: once ?? 'keep',
    keyHours,
    keptOnError: onError === 'keep',
  }))
}
