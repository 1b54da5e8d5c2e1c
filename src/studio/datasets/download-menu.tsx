/** The forms in which a version of a dataset can be had as a file. */

import type { Dataset } from '../../api/index.ts'
import { send } from '../api/client.ts'
import { fileOfDataset } from '../api/platform/datasets.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { saveText } from '../parts/save-text.ts'

const forms = [{ label: 'JSON lines', form: 'jsonl', kind: 'application/x-ndjson' }, {
  label: 'CSV',
  form: 'csv',
  kind: 'text/csv',
}] as const

/** The menu. It is loaded when its button is pressed, so it opens at once. */
export function DownloadMenu({ dataset: { id, name }, asOf, failed }: {
  readonly dataset: Dataset
  /** The version that is shown; the newest one without it. */
  readonly asOf: string | undefined
  readonly failed: (error: unknown) => void
}) {
  // A link could not carry the key of the caller.
  const download = async ({ form, kind }: typeof forms[number]) => {
    try {
      const response = await send(fileOfDataset(id, form, asOf))
      saveText(`${name}.${form}`, await response.text(), kind)
    } catch (error) {
      failed(error)
    }
  }
  return (
    <Menu startsOpen
      trigger={<Button kind="quiet" small icon={<Icon name="download" />} label="Download" />}
      acts={forms.map((each) => ({ label: each.label, act: () => void download(each) }))} />
  )
}
