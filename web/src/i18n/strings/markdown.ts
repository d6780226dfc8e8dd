import { defineText } from "../language";

export const markdownText = defineText({
  en: {
    copyCode: "Copy code",
    diagram: "Diagram",
    diagramShow: "Show diagram",
    diagramSource: "Show source",
    diagramDrawing: "Rendering the diagram…",
    diagramFailed: "The diagram could not be rendered. Showing its source instead.",
    imageLink: (alt: string) => (alt ? `Image: ${alt}` : "Image"),
    imageNote: "External images are not loaded.",
    codeLanguage: "Code",
    taskDone: "Done",
    taskOpen: "Not done",
    footnotes: "Footnotes",
    footnoteBack: "Back to text",
  },
  ja: {
    copyCode: "コードをコピー",
    diagram: "図",
    diagramShow: "図を表示",
    diagramSource: "ソースを表示",
    diagramDrawing: "図を描いています…",
    diagramFailed: "この図は描画できなかったため、ソースを表示しています。",
    imageLink: (alt: string) => (alt ? `画像：${alt}` : "画像"),
    imageNote: "外部の画像は読み込みません。",
    codeLanguage: "コード",
    taskDone: "完了",
    taskOpen: "未完了",
    footnotes: "脚注",
    footnoteBack: "本文に戻る",
  },
});
