/** Sets up the first model of a workspace: its provider, its name and its key. */

import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'

import type { Model } from '../addresses/playground.ts'
import { queries } from '../api/query.ts'
import { useRefusal } from '../api/refusal.ts'
import { Button } from '../parts/button.tsx'
import { Field, Input, Select } from '../parts/field.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { keepModel, storeSecret } from './model-calls.ts'
import { usualUrls } from './models.ts'
import css from './playground.module.css'

const providers = {
  openai: { name: 'OpenAI', dialect: 'openai', secret: 'OPENAI_API_KEY', example: 'gpt-5-mini' },
  anthropic: { name: 'Anthropic', dialect: 'anthropic', secret: 'ANTHROPIC_API_KEY',
    example: 'claude-sonnet-4-5' },
  other: { name: 'Another, with an API like that of OpenAI', dialect: 'openai',
    secret: 'MODEL_API_KEY', example: 'llama-4' },
} as const

type Provider = keyof typeof providers

/** The form. It stores the key, saves the model as the default, and uses it. */
export function ModelSetup({ use }: { readonly use: (model: Model) => void }) {
  const [provider, setProvider] = useState<Provider>('openai')
  const [[model, key, url], set] = useState(['', '', ''])
  const refusal = useRefusal()
  const { dialect, secret, example } = providers[provider]
  const save = useMutation({
    mutationFn: async () => {
      if (key !== '') await storeSecret(secret, key)
      return await keepModel(model.trim(), { dialect, model: model.trim(),
        base_url: provider === 'other' ? url.trim() : usualUrls[dialect],
        ...key !== '' && { secret } })
    },
    onSuccess: async ({ name }) => {
      await queries.invalidateQueries({ queryKey: ['playground'] })
      use({ saved: name })
    },
  })
  const isWhole = model.trim() !== '' && (provider === 'other' ? url.trim() : key) !== ''
  return (
    <form className={css['setup']} aria-label="Set up a model" onSubmit={(event) => {
      event.preventDefault()
      save.mutate()
    }}>
      <Field label="Provider">
        {(ids) => (
          <Select {...ids} value={provider}
            onChange={({ target }) => setProvider(target.value as Provider)}
          >
            {Object.entries(providers).map(([id, { name }]) => (
              <option key={id} value={id}>{name}</option>
            ))}
          </Select>
        )}
      </Field>
      {provider === 'other' && (
        <Field label="URL">
          {(ids) => (
            <Input {...ids} type="url" value={url} placeholder="https://models.example.com/v1"
              onChange={({ target }) => set([model, key, target.value])} />
          )}
        </Field>
      )}
      <Field label="Name of the model">
        {(ids) => (
          <Input {...ids} value={model} autoComplete="off" spellCheck={false} placeholder={example}
            onChange={({ target }) => set([target.value, key, url])} />
        )}
      </Field>
      <Field label="Key" hint="Stored encrypted on the server, and sent to this provider alone.">
        {(ids) => (
          <Input {...ids} type="password" autoComplete="off" value={key}
            onChange={({ target }) => set([model, target.value, url])} />
        )}
      </Field>
      <Button type="submit" kind="primary" title={refusal}
        disabled={!isWhole || refusal !== undefined || save.isPending}
      >
        Set up the model
      </Button>
      {save.isError && <ErrorNotice error={save.error} />}
    </form>
  )
}
