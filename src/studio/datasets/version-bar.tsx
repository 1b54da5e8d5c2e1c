/** Version of a dataset that is shown, the one it is compared with, and the tag that names it. */

import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import type { DatasetVersion } from '../../api/index.ts'
import { tagVersion, versionsQuery } from '../api/platform/datasets.ts'
import { queries } from '../api/query.ts'
import { useRefusal } from '../api/refusal.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { momentWords } from '../parts/times/moment.ts'
import { ErrorNotice } from '../parts/notice.tsx'
import { Select, TextField } from '../parts/field.tsx'
import css from './datasets.module.css'
import type { DatasetViewProps } from '../experiments/dataset-view.ts'

const own = (tags: DatasetVersion['tags']): readonly string[] =>
  (tags ?? []).filter((tag) => tag !== 'latest')

const versionWords = ({ as_of: asOf, tags }: DatasetVersion): string =>
  [...own(tags), momentWords(Date.parse(asOf), { seconds: true })].join(' · ')

/** The bar; nothing for a dataset that has no version yet. */
export function VersionBar({ dataset, search, set }: DatasetViewProps) {
  const { data: versions = [] } = useQuery(versionsQuery(dataset.id))
  const refusal = useRefusal()
  const [tagging, setTagging] = useState(false)
  if (versions.length === 0) return null
  const shown = search.as_of === undefined
    ? versions[0]
    : versions.find(({ as_of: asOf, tags }) =>
      asOf === search.as_of || tags?.includes(search.as_of!)
    )
  const others = versions.filter((version) => version !== shown)
  return (
    <>
      <Select aria-label="Version" value={search.as_of === undefined ? '' : shown?.as_of ??
        search.as_of}
        onChange={({ target }) => set({ as_of: target.value || undefined, example: undefined })}
      >
        <option value="">Newest version</option>
        {shown === undefined && <option value={search.as_of}>{search.as_of}</option>}
        {versions.map((version) => (
          <option key={version.as_of} value={version.as_of}>{versionWords(version)}</option>
        ))}
      </Select>
      {others.length > 0 && (
        <Select aria-label="Compare with" value={search.vs ?? ''} onChange={({ target }) =>
          set({ vs: target.value || undefined })}
        >
          <option value="">Compare with …</option>
          {others.map((version) => (
            <option key={version.as_of} value={version.as_of}>{versionWords(version)}</option>
          ))}
        </Select>
      )}
      <Button disabled={refusal !== undefined || shown === undefined} title={refusal}
        onClick={() => setTagging(true)}
      >
        Tag
      </Button>
      {tagging && shown !== undefined && (
        <TagDialog datasetId={dataset.id} version={shown} close={() => setTagging(false)} />
      )}
    </>
  )
}

function TagDialog({ datasetId, version, close }: {
  readonly datasetId: string
  readonly version: DatasetVersion
  readonly close: () => void
}) {
  const [tag, setTag] = useState('')
  const work = useMutation({
    mutationFn: () => tagVersion(datasetId, version.as_of, tag.trim()),
    onSuccess: () => {
      close()
      return queries.invalidateQueries({ queryKey: ['datasets', datasetId, 'versions'] })
    },
  })
  return (
    <Dialog open close={close} title="Name this version">
      <form className={css['form']} onSubmit={(event) => {
        event.preventDefault()
        work.mutate()
      }}>
        <p>{versionWords(version)}</p>
        <TextField label="Tag" hint="A tag names one version: it moves if another one has it."
          value={tag} maxLength={100} change={setTag} />
        {work.isError && <ErrorNotice error={work.error} />}
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={tag.trim() === '' || work.isPending}>
            Tag it
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
