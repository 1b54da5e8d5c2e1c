/** One part of a message that is more than a text: an image, a thought, or what nobody knows. */

import { lazy, Suspense } from 'react'

import { Markdown } from '../parts/markdown.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import css from './message.module.css'

const JsonTree = lazy(async () => ({ default: (await import('../json/json-tree.tsx')).JsonTree }))

/** The part. Images of other hosts are links: their address alone could carry words away. */
export function ContentPart({ part }: { readonly part: unknown }) {
  if (typeof part === 'string') return <Markdown text={part} />
  const { type, text, thinking, reasoning } = Object(part) as Record<string, unknown>
  if (type === 'text' && typeof text === 'string') {
    return text === '' ? null : <Markdown text={text} />
  }
  const image = imageOf(part)
  if (image !== undefined) return <Image address={image} />
  const thought = [thinking, reasoning].find((each) => typeof each === 'string')
  if (typeof thought === 'string') {
    return (
      <details className={css['fold']}>
        <summary>Reasoning</summary>
        <Markdown text={thought} />
      </details>
    )
  }
  // The pieces of a call stand in its own line.
  if (type === 'tool_use' || type === 'input_json_delta' || type === 'tool_call') return null
  return (
    <details className={css['fold']}>
      <summary>{typeof type === 'string' ? type : 'Another part'}</summary>
      <Suspense fallback={<Skeleton width="60%" />}>
        <JsonTree value={part} name="Part" />
      </Suspense>
    </details>
  )
}

function Image({ address }: { readonly address: string }) {
  if (/^data:image\/(png|jpeg|gif|webp);base64,/.test(address)) {
    return <img className={css['image']} src={address} alt="Part of the message" />
  }
  const url = URL.parse(address)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return <p>An image that cannot be shown here.</p>
  }
  return (
    <p>
      <a href={url.href} target="_blank" rel="noopener noreferrer">Image</a> ({url.host})
    </p>
  )
}

/** The address of an image, in the spellings of the model makers. */
function imageOf(part: unknown): string | undefined {
  const { type, image_url: url, source, data, mime_type: mime } = Object(part) as {
    type?: unknown
    image_url?: unknown
    source?: { data?: unknown; media_type?: unknown; url?: unknown }
    data?: unknown
    mime_type?: unknown
  }
  if (type !== 'image' && type !== 'image_url') return undefined
  const address = typeof url === 'string'
    ? url
    : (Object(url) as { url?: unknown }).url ?? source?.url
  if (typeof address === 'string') return address
  const bytes = typeof data === 'string' ? data : source?.data
  return typeof bytes === 'string'
    ? `data:${String(mime ?? source?.media_type ?? 'image/png')};base64,${bytes}`
    : undefined
}
