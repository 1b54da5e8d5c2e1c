/** The fields of an endpoint: where it is, what it is sent, and its key. */

import { useMutation } from '@tanstack/react-query'
import { useId, useState } from 'react'

import { queries } from '../api/query.ts'
import { useRefusal } from '../api/refusal.ts'
import { Button } from '../parts/button.tsx'
import { Field, Input, Select } from '../parts/field.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { keepModel, storeSecret } from './model-calls.ts'
import { dialects } from '../addresses/playground.ts'
import type { Endpoint, Model } from '../addresses/playground.ts'
import { usualUrls } from './models.ts'
import type { Workspace } from './models.ts'
import css from './playground.module.css'

const providers: Readonly<Record<Endpoint['dialect'], string>> = { openai: 'OpenAI, or like it',
  anthropic: 'Anthropic' }

type EndpointProps = Workspace & {
  readonly model: Endpoint
  readonly change: (model: Model) => void
}

/** Fields of an endpoint: its provider, its address, its model and its secret. */
export function EndpointFields(props: EndpointProps) {
  const { model, change } = props
  const set = (part: Partial<Endpoint>) => change({ ...model, ...part })
  // The usual address follows the dialect; one that somebody wrote stays.
  const speak = (dialect: Endpoint['dialect']) =>
    set({ dialect, ...model.base_url === usualUrls[model.dialect] &&
      { base_url: usualUrls[dialect] } })
  return (
    <div className={css['endpoint']}>
      <Field label="Provider">
        {(ids) => (
          <Select {...ids} value={model.dialect}
            onChange={({ target }) => speak(target.value as Endpoint['dialect'])}
          >
            {dialects.map((each) => <option key={each} value={each}>{providers[each]}</option>)}
          </Select>
        )}
      </Field>
      <Field label="Name of the model">
        {(ids) => (
          <Input {...ids} value={model.model} autoComplete="off"
            onChange={({ target }) => set({ model: target.value })} />
        )}
      </Field>
      <div className={css['wide']}>
        <Field label="URL">
          {(ids) => (
            <Input {...ids} type="url" value={model.base_url}
              onChange={({ target }) => set({ base_url: target.value })} />
          )}
        </Field>
      </div>
      <NumberField label="Temperature" step={0.1} value={model.temperature}
        set={(temperature) => set({ temperature })} />
      <NumberField label="Max tokens" step={1} value={model.max_tokens}
        set={(tokens) => set({ max_tokens: tokens })} />
      <SecretFields {...props} />
      <KeepForm {...props} />
    </div>
  )
}

function NumberField({ label, step, value, set }: {
  readonly label: string
  readonly step: number
  readonly value: number | undefined
  readonly set: (value: number | undefined) => void
}) {
  return (
    <Field label={label}>
      {(ids) => (
        <Input {...ids} type="number" min={0} step={step} value={value ?? ''}
          placeholder={step === 1 ? 'Tokens' : undefined}
          onChange={({ target }) => set(target.value === '' ? undefined : target.valueAsNumber)} />
      )}
    </Field>
  )
}

function SecretFields(
  { model: { secret = '', ...model }, change, secrets, brought, bring }: EndpointProps,
) {
  const list = useId()
  const refusal = useRefusal()
  const value = brought[secret] ?? ''
  const store = useMutation({
    mutationFn: () => storeSecret(secret, value),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['playground', 'secrets'] }),
  })
  return (
    <div className={css['wide']}>
      <Field label="Secret" hint="The name of the key. Without one, no key is sent.">
        {(ids) => (
          <>
            <Input {...ids} value={secret} autoComplete="off" list={list} spellCheck={false}
              onChange={({ target }) =>
                change({ ...model, ...target.value !== '' && { secret: target.value } })} />
            <datalist id={list}>
              {secrets.map((name) => <option key={name} value={name} />)}
            </datalist>
          </>
        )}
      </Field>
      {secret !== '' && !secrets.includes(secret) && (
        <>
          <Field label="Its value"
            hint="The workspace has no secret of this name. It is used for these calls, and kept
              nowhere unless you store it."
          >
            {(ids) => (
              <Input {...ids} type="password" autoComplete="off" value={value}
                onChange={({ target }) => bring(secret, target.value)} />
            )}
          </Field>
          <Button small disabled={value === '' || refusal !== undefined || store.isPending}
            title={refusal} onClick={() => store.mutate()}
          >
            Store it in the workspace
          </Button>
          {store.isError && <ErrorNotice error={store.error} />}
        </>
      )}
    </div>
  )
}

/** Saves the endpoint in the workspace, under a name. */
function KeepForm({ model, saved, change }: EndpointProps) {
  const [name, setName] = useState('')
  const refusal = useRefusal()
  const keep = useMutation({
    mutationFn: () => keepModel(name.trim(), model),
    onSuccess: async ({ name: made }) => {
      await queries.invalidateQueries({ queryKey: ['playground', 'models'] })
      change({ saved: made })
    },
  })
  return (
    <form className={css['wide']} onSubmit={(event) => {
      event.preventDefault()
      keep.mutate()
    }}>
      <div className={css['bar']}>
        <Input aria-label="Save as" placeholder="Save as …" value={name} maxLength={200}
          onChange={({ target }) => setName(target.value)} />
        <Button type="submit" title={refusal} disabled={refusal !== undefined || keep.isPending ||
          name.trim() === '' || model.model === ''}
        >
          Save
        </Button>
      </div>
      {saved.length === 0 && (
        <p className={css['hint']}>The first one that is saved becomes the default.</p>
      )}
      {keep.isError && <ErrorNotice error={keep.error} />}
    </form>
  )
}
