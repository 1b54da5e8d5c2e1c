/** Makes a key. Its text is shown here once, until its owner says that it is stored. */

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { FormEvent } from 'react'

import { apiKeys, createKey } from '../api/keys.ts'
import type { KeyRole } from '../api/keys.ts'
import { deploymentName } from '../api/place.ts'
import { queries } from '../api/query.ts'
import { serverInfo } from '../api/server.ts'
import { Button } from '../parts/button.tsx'
import { copyText } from '../parts/copy-button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field, TextField } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNotice, Notice } from '../parts/notice.tsx'
import css from './limits.module.css'

const roles: readonly (readonly [KeyRole, string])[] = [
  ['developer', 'Developer: may do all of a deployment'],
  ['deployer', 'Deployer: may deploy, and reads no data'],
  ['reader', 'Reader: may change nothing'],
  ['admin', 'Admin: may manage keys as well'],
]
const ends: readonly (readonly [number, string])[] = [[30, 'in 30 days'], [90, 'in 90 days'], [365,
  'in a year'], [0, 'never']]

/** Dialog that makes a key, and shows it once. */
export function NewKey({ close }: { readonly close: () => void }) {
  const [made, setMade] = useState<string>()
  return (
    <Dialog open title={made === undefined ? 'New key' : 'The new key'}
      close={() => made === undefined && close()}
    >
      {made === undefined
        ? <KeyForm made={setMade} />
        : <Made text={made} close={close} />}
    </Dialog>
  )
}

function KeyForm({ made }: { readonly made: (text: string) => void }) {
  const { data: info } = useQuery({ ...serverInfo, refetchInterval: false })
  const offered = info?.features?.deployments === true || deploymentName !== null
    ? roles
    : roles.filter(([role]) => role !== 'deployer')
  const [name, setName] = useState('')
  const [role, setRole] = useState<KeyRole>('developer')
  const [days, setDays] = useState(90)
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    try {
      const { key } = await createKey({ name: name.trim(), role,
        expires_in_days: days === 0 ? null : days })
      void queries.invalidateQueries({ queryKey: apiKeys.queryKey })
      made(key)
    } catch (thrown) {
      setError(thrown)
      setBusy(false)
    }
  }
  return (
    <form className={css['form']} onSubmit={(event) => void submit(event)}>
      <TextField label="Name" hint="For people: who or what uses the key." value={name}
        maxLength={100} autoComplete="off" autoFocus change={setName} />
      <Field label="Role">
        {(ids) => (
          <select {...ids} value={role} onChange={({ target }) => setRole(target.value as KeyRole)}>
            {offered.map(([value, words]) => <option key={value} value={value}>{words}</option>)}
          </select>
        )}
      </Field>
      <Field label="Ends">
        {(ids) => (
          <select {...ids} value={days} onChange={({ target }) => setDays(Number(target.value))}>
            {ends.map(([value, words]) => <option key={value} value={value}>{words}</option>)}
          </select>
        )}
      </Field>
      {error !== undefined && <ErrorNotice error={error} />}
      <div className={css['end']}>
        <Button type="submit" kind="primary" disabled={busy}>Create key</Button>
      </div>
    </form>
  )
}

function Made({ text, close }: { readonly text: string; readonly close: () => void }) {
  const [stored, setStored] = useState(false)
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await copyText(text)
    setCopied(true)
  }
  return (
    <div className={css['form']}>
      <Notice tone="waiting">
        This is the only time that the key is shown. The server keeps no copy of it.
      </Notice>
      <code className={css['secret']} aria-label="The key">{text}</code>
      <Button icon={<Icon name={copied ? 'check' : 'copy'} />} onClick={() => void copy()}>
        {copied ? 'Copied' : 'Copy the key'}
      </Button>
      <label className={css['check']}>
        <input type="checkbox" checked={stored}
          onChange={({ target }) => setStored(target.checked)} />
        I have stored it
      </label>
      <div className={css['end']}>
        <Button kind="primary" disabled={!stored} onClick={close}>Done</Button>
      </div>
    </div>
  )
}
