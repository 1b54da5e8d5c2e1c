/** Fields of what a question has beside its messages: tools, a schema of the answer, and images. */

import { useState } from 'react'

import { Button } from '../parts/button.tsx'
import { controlClass, Field } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { Notice } from '../parts/notice.tsx'
import css from './playground.module.css'
import { imageFault, imageTypes, schemaIn, toolsIn } from './question-extras.ts'
import type { ChosenImage, QuestionExtras } from './question-extras.ts'

interface ExtraProps {
  readonly extras: QuestionExtras
  readonly set: (change: Partial<QuestionExtras>) => void
}

/** Tools, schema and images, folded as long as nobody wants them. */
export function ExtraFields({ extras, set }: ExtraProps) {
  return (
    <>
      <details className={css['folded']}>
        <summary>Tools</summary>
        <JsonField label="Tools" value={extras.tools} read={toolsIn}
          change={(tools) => set({ tools })}
          hint="A list, as JSON. The answer shows which ones the model wants called; nothing is."
          example='[{"name": "weather", "description": "…", "parameters": {"type": "object"}}]' />
      </details>
      <details className={css['folded']}>
        <summary>Output schema</summary>
        <JsonField label="Output schema" value={extras.schema} read={schemaIn}
          change={(schema) => set({ schema })} hint="A JSON schema, which the answer follows."
          example='{"type": "object", "properties": {"city": {"type": "string"}}}' />
      </details>
      <details className={css['folded']}>
        <summary>Images</summary>
        <ImageField extras={extras} set={set} />
      </details>
    </>
  )
}

function JsonField({ label, hint, example, value, change, read }: {
  readonly label: string
  readonly hint: string
  readonly example: string
  readonly value: string
  readonly change: (text: string) => void
  /** Throws what is wrong, in words. */
  readonly read: (text: string) => unknown
}) {
  return (
    <Field label={label} hint={hint} error={faultOf(() => read(value))}>
      {(ids) => (
        <textarea {...ids} className={`${controlClass} ${css['json']}`} rows={5} value={value}
          spellCheck={false} placeholder={example}
          onChange={({ target }) => change(target.value)} />
      )}
    </Field>
  )
}

function ImageField({ extras: { images }, set }: ExtraProps) {
  const [fault, setFault] = useState<string>()
  const add = async (files: readonly File[]) => {
    setFault(undefined)
    const all = [...images]
    for (const file of files) {
      const wrong = imageFault(file, all)
      if (wrong !== undefined) {
        setFault(wrong)
        continue
      }
      all.push({ name: file.name, bytes: file.size, dataUrl: await dataUrlOf(file) })
    }
    set({ images: all })
  }
  return (
    <>
      <Field label="Images" hint="They go with the last message of the user.">
        {(ids) => (
          <input {...ids} className="" type="file" multiple accept={imageTypes.join(',')}
            onChange={({ target }) => {
              const files = [...target.files ?? []]
              // The same file may be chosen again.
              target.value = ''
              void add(files)
            }} />
        )}
      </Field>
      {fault !== undefined && (
        <Notice tone="failed">
          <p dir="auto">{fault}</p>
        </Notice>
      )}
      {images.length > 0 && (
        <ul className={css['images']} aria-label="Chosen images">
          {images.map((image, at) => (
            <Shown key={at} image={image} remove={() => set({ images: images.toSpliced(at, 1) })} />
          ))}
        </ul>
      )}
    </>
  )
}

function Shown({ image: { name, dataUrl }, remove }: {
  readonly image: ChosenImage
  readonly remove: () => void
}) {
  return (
    <li>
      <img src={dataUrl} alt={name} />
      <Button kind="quiet" small label={`Remove ${name}`} icon={<Icon name="close" size={14} />}
        onClick={remove} />
    </li>
  )
}

function dataUrlOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(String(reader.result)))
    reader.addEventListener('error', () => reject(new Error(`${file.name} cannot be read.`)))
    reader.readAsDataURL(file)
  })
}

/** The sentence of what a call throws; undefined if nothing is thrown. */
function faultOf(work: () => unknown): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
