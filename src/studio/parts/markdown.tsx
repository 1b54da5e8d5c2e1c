/** Markdown as elements: what a model wrote is text, never markup of this page. */

/** A text with Markdown. */
export function Markdown({ text }: { readonly text: string }) {
  return <p>{text}</p>
}
