/** Something to wait for until a test opens it. */
export interface Gate {
  opened: Promise<void>
  open(): void
}

export function makeGate(): Gate {
  const gate: Gate = { opened: Promise.resolve(), open: () => undefined }
  gate.opened = new Promise((resolve) => {
    gate.open = resolve
  })
  return gate
}
