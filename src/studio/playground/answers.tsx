/** The models beside each other, and their answers. */

import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'

import type { ConfiguredModel, ModelQuestion } from '../../api/index.ts'
import { modelsMax } from '../addresses/playground.ts'
import type { Model } from '../addresses/playground.ts'
import type { JsonObject } from '../api/client.ts'
import { useRefusal } from '../api/refusal.ts'
import { isObject } from '../json/is-object.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { messageOf } from '../parts/error-message.ts'
import { ErrorNotice } from '../parts/notice.tsx'
import { useKeys } from '../parts/keys.ts'
import { askModel, begun, failed } from './model-answer.ts'
import type { Answer, ShownAnswer } from './model-answer.ts'
import { savedModels } from '../api/platform/models.ts'
import { localPrograms, secretNames } from './model-calls.ts'
import { ModelColumn } from './model-column.tsx'
import { faultOfModel, isEndpoint, settingsOf, usualModel } from './models.ts'
import { extrasOf } from './question-extras.ts'
import type { QuestionExtras } from './question-extras.ts'
import css from './playground.module.css'

/** Prompt that is asked, and the values of its variables. */
interface Asked {
  readonly manifest: unknown
  readonly variables: JsonObject
  readonly extras: QuestionExtras
}

/** The columns. The models stand in the address; keys that are brought along do not. */
export function Answers({ model: given, ...asked }: Asked & {
  /** The one that is asked as long as the address names none. */
  readonly model: Model | undefined
}) {
  const search = useSearch({ from: '/playground' })
  const navigate = useNavigate()
  const secrets = useQuery(secretNames)
  const saved = useQuery(savedModels)
  const local = useQuery(localPrograms)
  const isKnown = !saved.isPending && !local.isPending
  const known = { saved: saved.data ?? [], programs: local.data ?? [] }
  const usual = given ?? usualModel(asked.manifest, known)
  const { models = [usual ?? 'default'] } = search
  const isMissing = isKnown && usual === undefined && models.includes('default')
  const setModels = (next: readonly Model[]) =>
    void navigate({ to: '/playground', search: { ...search, models: next }, replace: true })
  const { answers, run, stop, clear, isRunning } = useAnswers()
  const refusal = useRefusal()
  const [brought, setBrought] = useState<Readonly<Record<string, string>>>({})
  const start = () => run(models, asked, saved.data ?? [], brought)
  const hindrance = refusal ?? (isMissing ? 'Set up a model first' : faultIn(models, asked))
  const canStart = hindrance === undefined && isKnown && !isRunning
  useKeys('Playground', {
    'mod+enter': { words: 'Ask the models', act: () => canStart && start() },
  })
  return (
    <section className={css['answering']} aria-label="Answers">
      <div className={css['bar']}>
        {isRunning
          ? <Button icon={<Icon name="stop" size={14} />} onClick={stop}>Stop</Button>
          : (
            <Button kind="primary" icon={<Icon name="play" size={14} />} onClick={start}
              disabled={!canStart} title={hindrance}
            >
              Run
            </Button>
          )}
        <Button icon={<Icon name="plus" size={14} />} title={models.length === modelsMax
          ? `${modelsMax} at a time`
          : undefined} disabled={models.length === modelsMax || isRunning}
          onClick={() => setModels([...models, models.at(-1)!])}
        >
          Add a model
        </Button>
      </div>
      {(saved.error ?? secrets.error) && (
        <ErrorNotice error={saved.error ?? secrets.error} retry={() => {
          void saved.refetch()
          void secrets.refetch()
        }} />
      )}
      <div className={css['answers']}>
        {models.map((model, at) => (
          <ModelColumn key={at} label={`Model ${at + 1}`} model={model} answer={answers[at]}
            {...known} secrets={secrets.data ?? []} brought={brought}
            isMissing={isMissing && model === 'default'}
            bring={(name, value) => setBrought({ ...brought, [name]: value })}
            change={(next) => setModels(models.with(at, next))}
            remove={models.length > 1 && !isRunning
              ? () => {
                clear(at)
                setModels(models.toSpliced(at, 1))
              }
              : undefined} />
        ))}
      </div>
    </section>
  )
}

/** Answers that come in at once. Leaving the page ends them. */
function useAnswers() {
  const [answers, setAnswers] = useState<readonly ShownAnswer[]>([])
  const calls = useRef<AbortController>(undefined)
  useEffect(() => () => calls.current?.abort(), [])
  const run = (models: readonly Model[], asked: Asked, saved: readonly ConfiguredModel[],
    brought: Readonly<Record<string, string>>) => {
    const call = new AbortController()
    calls.current = call
    const { variables } = asked
    setAnswers(models.map(() => ({ ...begun, variables })))
    for (const [at, model] of models.entries()) {
      const say = (answer: Partial<Answer>) => {
        if (calls.current === call) setAnswers((old) => old.with(at, { ...old[at]!, ...answer }))
      }
      try {
        void askModel(bodyOf(model, asked, saved, brought), call.signal, say)
      } catch (error) {
        say(failed(error))
      }
    }
  }
  return { answers, run, stop: () => calls.current?.abort(),
    clear: (at: number) => setAnswers((old) => old.filter((_, index) => index !== at)),
    isRunning: answers.some(({ state }) => state === 'running') }
}

/** The fault that hinders a question, in words. */
function faultIn(models: readonly Model[], { manifest, extras }: Asked): string | undefined {
  if (!isObject(manifest)) return 'Write a message first'
  try {
    extrasOf(extras)
    return models.map(faultOfModel).find((fault) => fault !== undefined)
  } catch (error) {
    return messageOf(error)
  }
}

/** The body of a call. Only the key that its model names is sent along. */
function bodyOf(model: Model, asked: Asked, saved: readonly ConfiguredModel[],
  brought: Readonly<Record<string, string>>): ModelQuestion {
  const { manifest, variables, extras } = asked
  const settings = settingsOf(model, saved)
  const secret = isEndpoint(model) ? model.secret : undefined
  return { manifest: isObject(manifest) ? manifest : null, variables, ...extrasOf(extras),
    ...settings !== undefined && { model: settings },
    ...secret !== undefined && brought[secret] && { secrets: { [secret]: brought[secret] } } }
}
