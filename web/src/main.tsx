import "./theme.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app";
import { LanguageProvider } from "./i18n/language";
import { startTranslation } from "./i18n/translate";
import { queryClient } from "./query";
import { startTheme } from "./theme";
import { Toasts } from "./ui/toast";

startTheme();
startTranslation();

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");

createRoot(root).render(
  <StrictMode>
    <LanguageProvider>
      <QueryClientProvider client={queryClient}>
        <Toasts>
          <App />
        </Toasts>
      </QueryClientProvider>
    </LanguageProvider>
  </StrictMode>,
);
